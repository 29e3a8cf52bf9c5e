/**
 * DefaultTolerationSeconds: a pod stays five minutes on a node that is unreachable or not ready, unless it specifies
 * otherwise.
 */
import { Pod, NOT_READY_TAINT, UNREACHABLE_TAINT } from "@flotilla/kubernetes";
import type { AdmissionStep } from "@flotilla/apimachinery";
import type { Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import { writesObject } from "./writes-object.ts";

const TOLERATED_SECONDS = 300;

const tolerationOf = (key: string): Toleration => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: TOLERATED_SECONDS,
});
const DEFAULTS = [NOT_READY_TAINT, UNREACHABLE_TAINT].map(tolerationOf);

export const defaultTolerations: AdmissionStep<Pod> = {
  name: "DefaultTolerationSeconds",
  for: Pod,
  on: ["CREATE", "UPDATE"],
  matches: writesObject,
  complete({ object: pod }) {
    const present = pod.spec.tolerations ?? [];
    const missing = DEFAULTS.filter(
      ({ key }) =>
        !present.some(
          (toleration) =>
            (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === "NoExecute"),
        ),
    );
    if (missing.length === 0) return pod;
    return { ...pod, spec: { ...pod.spec, tolerations: [...present, ...missing] } };
  },
};
