"""Where links lead, judged offline (rule 26)."""
