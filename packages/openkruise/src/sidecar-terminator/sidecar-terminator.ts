/** SidecarTerminator: the sidecars of a job's pod end with its main containers. */
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseFeature } from "../api/kruise-definition.ts";
import { createSidecarTerminator } from "./sidecar-terminator-controller.ts";

export const sidecarTerminator: KruiseFeature = {
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("SidecarTerminator") ? [createSidecarTerminator(deps)] : [],
};
