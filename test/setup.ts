/** Property tests use the same seed in every run: a failure is caused by the change, not by chance. */
import * as fc from "fast-check";

fc.configureGlobal({ seed: 20_241_101 });
