# No engine: a main() that replays files and folders, on any compiler.
set(TD_ENGINE_DRIVER replay)
set(TD_ENGINE_COMPILE "")
set(TD_ENGINE_LINK "")
