"""Reports on a unit, or on two, as the page shows them."""
