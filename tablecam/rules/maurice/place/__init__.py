"""Where units lie to each other: near, touching, flanked, in one force (chapter 1)."""
