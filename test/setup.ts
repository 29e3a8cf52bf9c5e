/** Property tests draw the same cases in every run: a failure is a failure of the change, not of the day. */
import * as fc from "fast-check";

fc.configureGlobal({ seed: 20_241_101 });
