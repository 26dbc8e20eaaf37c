"""`python -m tablecam`, where the script is not on the path."""

import sys

from tablecam.cli import main

sys.exit(main())
