/**
 * Flux HelmRepository. One that names an OCI registry is only read by charts: Flux keeps no status for it, and Karmada
 * would report it as unhealthy forever. Unlike in Karmada, the Secret of its certificates is a dependency.
 */
import { isObject } from "@flotilla/base";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { fluxInterpreter, type FluxObject } from "../flux.ts";
import { conditionsIn, isConditionReady } from "@flotilla/kubernetes";

const READY_REASONS = ["Succeeded"];

export const helmRepositoryInterpreter: KindInterpreter<FluxObject> = {
  ...fluxInterpreter({
    group: "source.toolkit.fluxcd.io",
    kind: "HelmRepository",
    readyReasons: READY_REASONS,
    status: { last: ["artifact", "url"] },
    references: { secrets: ["secretRef", "certSecretRef"] },
  }),
  isHealthy: ({ spec, status }) =>
    isConditionReady(status, READY_REASONS) ||
    (spec?.["type"] === "oci" && conditionsIn(isObject(status) ? status : undefined).length === 0),
};
