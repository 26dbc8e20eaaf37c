"""The health of the camera and of the page's connection, and messages when they fail."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Route, expect


def doctored(route: Route, state: Any) -> None:
    after = f"after={state['version']}"
    route.fulfill(status=204) if after in route.request.url else route.fulfill(json=state)


def tags_seen(player: Any) -> str:
    return str(player.demo.live.snapshot().health.tags_seen)


def test_the_strip_tells_the_cameras_health(player: Any) -> None:
    page = player.page
    expect(page.locator("#health-state")).to_have_text("Camera good")
    page.locator("#health").click()
    expect(page.locator("#health-facts")).to_contain_text("simulated")
    player.sees(
        lambda: f"{tags_seen(player)} seen" in (page.locator("#health-facts").text_content() or "")
    )


def test_a_page_without_a_stream_asks_instead_and_shows_held_bases_as_held(player: Any) -> None:
    page = player.page
    state = page.request.get(f"{player.demo.address}api/state").json()
    state["units"][0]["bases"][1] |= {"seen": "held", "held_s": 75.0}
    page.route("**/api/events", lambda route: route.fulfill(status=503, body="full"))
    page.route("**/api/state**", lambda route: doctored(route, state))
    page.reload()
    held = page.locator(".unit .base.held")
    expect(held).to_have_count(1)
    expect(held).to_be_visible()
    fill = held.locator(".face").evaluate("node => getComputedStyle(node).strokeDasharray")
    assert fill != "none"
    expect(page.locator(".named.held")).to_contain_text("unseen 75 s")
    expect(page.locator("#warnings")).to_contain_text("updates twice a second")
    page.unroute_all(behavior="wait")


def test_what_happens_to_the_camera_is_said_once_and_kept_in_the_log(player: Any) -> None:
    page = player.page
    state = page.request.get(f"{player.demo.address}api/state").json()
    page.route("**/api/events", lambda route: route.fulfill(status=503, body="full"))
    page.route("**/api/state**", lambda route: doctored(route, state))
    page.reload()
    expect(page.locator("#warnings")).to_contain_text("updates twice a second")
    expect(page.locator("#log")).to_be_hidden()
    bumped = {"number": 1, "at": "2025-08-01T14:03:12+00:00", "text": "The camera was bumped."}
    state |= {"version": state["version"] + 1, "notices": [bumped]}
    expect(page.locator("#notice-text")).to_have_text("The camera was bumped.")
    page.locator("#log summary").click()
    expect(page.locator("#log-body li")).to_have_count(1)
    expect(page.locator("#log-body li")).to_contain_text("The camera was bumped.")
    expect(page.locator("#health-news")).to_have_text("The camera was bumped.")  # for some seconds
    page.locator("#health").click()
    expect(page.locator("#health-news")).to_be_empty()
    expect(page.locator('[data-key="Latest notice"]')).to_contain_text("The camera was bumped.")
    page.locator("#health").click()
    page.unroute_all(behavior="wait")


def test_a_base_whose_tag_lies_there_twice_is_marked(player: Any) -> None:
    page = player.page
    state = page.request.get(f"{player.demo.address}api/state").json()
    state["units"][0]["bases"][1] |= {"seen": "held", "held_s": 2.0, "doubted": True}
    page.route("**/api/events", lambda route: route.fulfill(status=503, body="full"))
    page.route("**/api/state**", lambda route: doctored(route, state))
    page.reload()
    expect(page.locator(".unit .base.doubted")).to_have_count(1)
    expect(page.locator(".named.held").first).to_contain_text("seen twice")
    page.unroute_all(behavior="wait")


def test_a_lost_connection_is_said_and_comes_back_by_itself(player: Any) -> None:
    page = player.page
    page.route("**/api/**", lambda route: route.abort())
    page.reload()
    expect(page.locator("#lost")).to_contain_text("No connection")
    page.unroute_all(behavior="wait")
    expect(page.locator("#health-state")).to_have_text("Camera good")
    expect(page.locator("#lost")).to_be_hidden()
    player.sees_the_newest()


def test_a_hidden_unit_can_be_said_to_have_left_the_table(player: Any) -> None:
    page = player.page
    state = page.request.get(f"{player.demo.address}api/state").json()
    unit = state["units"][0]
    unit["bases"][1] |= {"seen": "held", "held_s": 75.0}
    taken_off: list[Any] = []

    def forget(route: Route) -> None:
        taken_off.append(route.request.post_data_json)
        route.fulfill(status=204)

    page.route("**/api/events", lambda route: route.fulfill(status=503, body="full"))
    page.route("**/api/state**", lambda route: doctored(route, state))
    page.route("**/api/take-off", forget)
    page.reload()
    page.locator(f'[data-thing="unit:{unit["id"]}"]').first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Taken off").click()
    expect(page.locator("#measure-title")).to_have_text("Measure")
    assert taken_off == [{"thing": f"unit:{unit['id']}"}]
    page.unroute_all(behavior="wait")
