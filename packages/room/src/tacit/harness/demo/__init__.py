"""Three scripted agents for a first minute without a key or a model (`tacit up --demo`)."""
