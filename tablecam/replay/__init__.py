"""Uses of a finished recording: display, film, check, repair and exchange with other programs."""
