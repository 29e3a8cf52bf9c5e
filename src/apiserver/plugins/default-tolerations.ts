/**
 * DefaultTolerationSeconds: a pod stays five minutes on a node that is unreachable or not ready, unless it specifies
 * otherwise.
 */
import type { Pod, Toleration } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Plugin } from "../plugin.ts";
import { writesPod } from "../pods.ts";

const TOLERATED_SECONDS = 300;

const tolerationOf = (key: string): Toleration => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: TOLERATED_SECONDS,
});
const DEFAULTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map(tolerationOf);

export const defaultTolerations: Plugin = {
  name: "DefaultTolerationSeconds",
  group: "",
  concerns: (context, operation) => operation !== "DELETE" && writesPod(context),
  mutate({ object }) {
    const pod = object as unknown as DeepReadonly<Pod>;
    const present = pod.spec.tolerations ?? [];
    const missing = DEFAULTS.filter(
      ({ key }) =>
        !present.some(
          (toleration) =>
            (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === "NoExecute"),
        ),
    );
    if (missing.length === 0) return object;
    return { ...pod, spec: { ...pod.spec, tolerations: [...present, ...missing] } };
  },
};
