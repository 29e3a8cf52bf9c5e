/** Why containers of an EphemeralJob do not run. Pure. */
import type { JsonObject } from "@flotilla/base";
import { conditionsIn, countOf } from "@flotilla/kubernetes";
import type { Unhealthy } from "@flotilla/kubernetes";
import { FAILED, said, oneLine } from "../interpreter/own-problem.ts";

export function ephemeralProblem(_spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const [match, failed, waiting] = ["match", "failed", "waiting"].map((name) => countOf(status[name])) as [
    number,
    number,
    number,
  ];
  const phase = oneLine(status["phase"]);
  const last = conditionsIn(status).at(-1) ?? {};
  if (failed > 0 || phase === "Failed" || phase === "Error")
    return {
      reason: FAILED,
      message: `its containers failed in ${failed} of ${Math.max(match, failed)} pods${said(last["message"])}`,
    };
  return waiting > 0 && phase !== "Paused"
    ? {
        reason: "PodsNotReady",
        message: `its containers have not started in ${waiting} of ${Math.max(match, waiting)} pods: check their image`,
      }
    : undefined;
}
