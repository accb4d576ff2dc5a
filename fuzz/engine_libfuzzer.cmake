# libFuzzer: every file is instrumented, the targets alone get its main().
set(TD_ENGINE_DRIVER libfuzzer)
set(TD_ENGINE_COMPILE -fsanitize=fuzzer-no-link)
set(TD_ENGINE_LINK -fsanitize=fuzzer)
