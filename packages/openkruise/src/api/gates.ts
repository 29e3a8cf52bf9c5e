/** The OpenKruise feature gates that its webhooks depend on. Callers that know all gates may pass all of them. */
type KruiseGate =
  | "PodUnavailableBudgetDeleteGate"
  | "PodUnavailableBudgetUpdateGate"
  | "SidecarSetPatchPodMetadataDefaultsAllowed"
  | "StatefulSetAutoDeletePVC"
  | "StatefulSetAutoResizePVCGate"
  | "TemplateNoDefaults";

export interface KruiseGates {
  isOn(gate: KruiseGate): boolean;
}

const ON: ReadonlySet<KruiseGate> = new Set<KruiseGate>(["PodUnavailableBudgetDeleteGate", "StatefulSetAutoDeletePVC"]);

/** The defaults of release 1.9.1. */
export const DEFAULT_KRUISE_GATES: KruiseGates = { isOn: (gate) => ON.has(gate) };
