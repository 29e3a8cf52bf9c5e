/**
 * `openkruise-cloneset.jsonl`, `openkruise-inplace.jsonl` and similar: decisions of OpenKruise's own functions,
 * compared with the planners that the controllers use.
 */
import { equalJson } from "@flotilla/base";
import { cronCases } from "../../../packages/openkruise/src/advancedcronjob/testdata/cron-cases.ts";
import {
  broadcastJobCases,
  whyBroadcastJobDiffers,
} from "../../../packages/openkruise/src/broadcastjob/testdata/broadcastjob-cases.ts";
import {
  cloneSetCases,
  whyCloneSetDiffers,
} from "../../../packages/openkruise/src/cloneset/testdata/cloneset-cases.ts";
import { traceCloneSet } from "../../../packages/openkruise/src/cloneset/testdata/cloneset-trace.ts";
import { createDaemonSetCases } from "../../../packages/openkruise/src/daemonset/testdata/daemonset-cases.ts";
import { inPlaceCases } from "../../../packages/openkruise/src/in-place/testdata/in-place-cases.ts";
import { plain } from "../../../packages/openkruise/src/testdata/plain.ts";
import { budgetCases } from "../../../packages/openkruise/src/podunavailablebudget/testdata/pub-cases.ts";
import type { RecordedRun } from "../../../packages/openkruise/src/testdata/read-cases.ts";
import { sidecarSetCases } from "../../../packages/openkruise/src/sidecarset/testdata/sidecarset-cases.ts";
import { statefulSetCases } from "../../../packages/openkruise/src/statefulset/testdata/statefulset-cases.ts";
import { traceStatefulSet } from "../../../packages/openkruise/src/statefulset/testdata/statefulset-trace.ts";
import { unitedDeploymentCases } from "../../../packages/openkruise/src/uniteddeployment/testdata/uniteddeployment-cases.ts";
import { workloadSpreadCases } from "../../../packages/openkruise/src/workloadspread/testdata/workloadspread-cases.ts";
import { pick } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

/** By the kind of the case. */
function runnerOf(
  kinds: Readonly<Record<string, RecordedRun>>,
  reasonFor: (line: GoldenCase) => string | undefined = () => undefined,
): CaseRunner {
  return {
    check({ input, want, wantAnyOf = [want ?? {}] }) {
      const got = pick(kinds, input?.["kind"])(input as never, want as never);
      return wantAnyOf.some((accepted) => equalJson(plain(got), plain(accepted)))
        ? undefined
        : `got ${JSON.stringify(got)}, want ${wantAnyOf.map((accepted) => JSON.stringify(accepted)).join(" or ")}`;
    },
    reasonFor,
  };
}

/** By the name of the file without `openkruise-`. A kind with recorded decisions has one entry. */
export const openKruiseFunctions: ReadonlyMap<string, CaseRunner> = new Map(
  Object.entries({
    broadcastjob: runnerOf(broadcastJobCases, ({ want }) => whyBroadcastJobDiffers(want)),
    cloneset: runnerOf(cloneSetCases, ({ input }) => whyCloneSetDiffers(input as never)),
    cron: runnerOf(cronCases),
    daemonset: runnerOf(createDaemonSetCases()),
    inplace: runnerOf(inPlaceCases),
    pub: runnerOf(budgetCases),
    sidecarset: runnerOf(sidecarSetCases),
    statefulset: runnerOf(statefulSetCases),
    /** Whole rollouts, pass by pass. */
    trace: runnerOf({ cloneset: traceCloneSet, statefulset: traceStatefulSet }),
    uniteddeployment: runnerOf(unitedDeploymentCases),
    workloadspread: runnerOf(workloadSpreadCases),
  }),
);
