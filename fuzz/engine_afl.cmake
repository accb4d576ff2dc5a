# AFL++: its compiler instruments by itself, and its driver library calls the
# entry point that libFuzzer would call.
set(TD_ENGINE_DRIVER libfuzzer)
set(TD_ENGINE_COMPILE "")
set(TD_ENGINE_LINK -fsanitize=fuzzer)
