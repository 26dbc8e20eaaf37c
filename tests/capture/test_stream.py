"""Streams over HTTP from this computer to itself: served, cut off, and served again."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cv2
import numpy as np
import pytest

from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Source
from tablecam.capture.open_source import open_reader, open_source
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import JpegPicture
from tablecam.errors import BadInput
from tests.patience import PATIENCE_S
from tests.ports import kept_port

_PICTURE = cv2.imencode(".jpg", np.full((48, 64, 3), 150, dtype=np.uint8))[1].tobytes()


class MjpegCamera:
    """A network camera: motion JPEG over HTTP, until it is cut off."""

    def __init__(self, port: int = 0) -> None:
        is_cut = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace;boundary=frame")
                self.end_headers()
                head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(_PICTURE)}"
                part = head.encode() + b"\r\n\r\n" + _PICTURE + b"\r\n"
                while not is_cut.wait(0.002):
                    try:
                        self.wfile.write(part)
                    except OSError:
                        return

            def log_message(self, *_: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            # Rebound at once after being cut off, like a camera that is switched on again.
            allow_reuse_address = True
            daemon_threads = True

        self._is_cut = is_cut
        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/video"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def cut_off(self) -> None:
        """Switch it off; a second call does nothing."""
        if self._is_cut.is_set():
            return
        self._is_cut.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def _switched_on(port: int = 0) -> Iterator[MjpegCamera]:
    """A camera that is cut off at the end, unless it already was."""
    camera = MjpegCamera(port)
    try:
        yield camera
    finally:
        camera.cut_off()


@pytest.fixture
def camera() -> Iterator[MjpegCamera]:
    with _switched_on() as served:
        yield served


def _read_to_the_end(source: Source) -> None:
    while source.read() is not None:
        pass


def test_a_stream_gives_pictures_until_it_is_cut_off(clock: Any) -> None:
    with _switched_on() as camera:
        source = open_source(camera.address, clock=clock)
        frames = [source.read() for _ in range(3)]
        assert [frame.number for frame in frames if frame] == [0, 1, 2]
        assert all(isinstance(frame.picture, JpegPicture) for frame in frames if frame)
        assert abs(float(frames[0].image.mean()) - 150) < 2
    with pytest.raises(SourceLost, match=r"127\.0\.0\.1.* stopped delivering pictures"):
        _read_to_the_end(source)
    source.close()


def test_a_stream_that_was_cut_off_comes_back_by_itself(clock_with_patience: Any) -> None:
    clock = clock_with_patience(0)
    with (
        kept_port() as port,
        _switched_on(port) as camera,
        open_reader(camera.address, clock=clock) as reader,
    ):
        first = reader.newest(timeout_s=PATIENCE_S)
        assert first is not None
        assert reader.status.state == "live"
        camera.cut_off()
        assert clock.is_out_of_patience.wait(PATIENCE_S)
        status = reader.status
        assert status.state == "lost"
        assert "stopped delivering pictures; trying again in 1 s" in status.message
        with _switched_on(port):
            last = reader.newest()
            clock.hurry()
            back = reader.newest(after=last.number, timeout_s=PATIENCE_S)
            assert back is not None
            assert reader.status.state == "live"


def test_a_stream_with_a_password_is_shown_without_it(camera: MjpegCamera, clock: Any) -> None:
    source = open_source(camera.address.replace("://", "://me:secret@"), clock=clock)
    assert source.name == camera.address
    source.close()


def test_an_address_where_nobody_answers_is_one_line(
    capfd: pytest.CaptureFixture[str], clock: Any
) -> None:
    with (
        kept_port() as port,
        pytest.raises(BadInput, match="no pictures came") as caught,
    ):
        open_source(f"http://me:secret@127.0.0.1:{port}/video", clock=clock)
    assert "secret" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_camera_that_answers_but_sends_nothing_is_given_up_in_time(clock: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        options = SourceOptions(open_timeout_s=0.3, read_timeout_s=0.3)
        with pytest.raises(BadInput, match=r"no pictures came within 0\.3 s"):
            open_source(f"http://127.0.0.1:{port}/video", options, clock=clock)
