from hypothesis import settings

# A deadline would be a timing assertion: it fails on a busy machine and says nothing of the code.
settings.register_profile("byheart", deadline=None)
settings.load_profile("byheart")
