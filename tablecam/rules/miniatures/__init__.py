"""What several rulebooks of miniatures share."""
