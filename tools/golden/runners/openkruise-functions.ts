/**
 * `openkruise-cloneset.jsonl`, `openkruise-inplace.jsonl` and similar: decisions of OpenKruise's own functions,
 * compared with the planners that the controllers use.
 */
import { equalJson } from "@flotilla/base";
import { broadcastJobCases, whyBroadcastJobDiffers } from "@flotilla/openkruise";
import { cloneSetCases, whyCloneSetDiffers } from "@flotilla/openkruise";
import { traceCloneSet } from "@flotilla/openkruise";
import { createDaemonSetCases } from "@flotilla/openkruise";
import { inPlaceCases } from "@flotilla/openkruise";
import { plain } from "@flotilla/openkruise";
import { budgetCases } from "@flotilla/openkruise";
import type { RecordedRun } from "@flotilla/openkruise";
import { sidecarSetCases } from "@flotilla/openkruise";
import { statefulSetCases } from "@flotilla/openkruise";
import { traceStatefulSet } from "@flotilla/openkruise";
import { unitedDeploymentCases } from "@flotilla/openkruise";
import { pick } from "../compare.ts";
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

export const openKruiseCloneSet = runnerOf(cloneSetCases, ({ input }) => whyCloneSetDiffers(input as never));
export const openKruiseInPlace = runnerOf(inPlaceCases);
export const openKruiseSidecarSet = runnerOf(sidecarSetCases);
export const openKruiseBudget = runnerOf(budgetCases);
export const openKruiseBroadcastJob = runnerOf(broadcastJobCases, ({ want }) => whyBroadcastJobDiffers(want));
export const openKruiseStatefulSet = runnerOf(statefulSetCases);
export const openKruiseDaemonSet = runnerOf(createDaemonSetCases());
export const openKruiseUnitedDeployment = runnerOf(unitedDeploymentCases);
/** Whole rollouts, pass by pass. */
export const openKruiseTrace = runnerOf({ cloneset: traceCloneSet, statefulset: traceStatefulSet });
