import { expect, test } from "vitest";
import { readOutcome } from "./outcome.ts";

const FAILED = `
  STEP: getting /apis @ 01/02/26 19:00:04.704
  [FAILED] in [It] - e2e/flowcontrol.go:290 @ 01/02/26 19:00:04.708
  << Timeline

  [FAILED] expected the group,
  got another
  In [It] at: e2e/flowcontrol.go:290 @ 01/02/26 19:00:04.708
------------------------------
FAIL! -- 0 Passed | 1 Failed | 0 Pending | 7578 Skipped
`;

const cases: Record<string, { output: string; timedOut?: boolean; want: ReturnType<typeof readOutcome> }> = {
  "a test that passed has no reason": {
    output: "SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 7578 Skipped",
    want: { result: "passed" },
  },
  "the reason of a failure is the failed expectation, on one line": {
    output: FAILED,
    want: { result: "failed", reason: "expected the group, got another" },
  },
  "a skipped test has the suite's reason": {
    output:
      "  [SKIPPED] in [It] - a.go:1\n  [SKIPPED] needs a cloud\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 7579 Skipped",
    want: { result: "skipped", reason: "needs a cloud" },
  },
  "a test that timed out has its last step as the reason": {
    output: "  STEP: creating a pod @ 01/02/26 19:00:04\n  STEP: waiting for it @ 01/02/26 19:00:05\n",
    timedOut: true,
    want: { result: "timed out", reason: "waiting for it" },
  },
  "a process that crashed has its last line as the reason": {
    output: "e2e.test: cannot open the kubeconfig\n",
    want: { result: "failed", reason: "e2e.test: cannot open the kubeconfig" },
  },
};

for (const [behaviour, { output, timedOut = false, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(readOutcome(output, timedOut)).toEqual(want);
  });
}
