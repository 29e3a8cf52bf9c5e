/**
 * OpenKruise's feature gates, with the defaults of 1.9.1.
 *
 * `KruiseDependencies.gates` passes them to the controllers; a planner that depends on one gets the gates as an
 * argument. A gate that is not listed here is rejected instead of ignored.
 */
import { FlotillaError } from "@flotilla/base";

const DEFAULTS = {
  PodWebhook: true,
  KruiseDaemon: true,
  DaemonWatchingPod: true,
  CloneSetShortHash: false,
  KruisePodReadinessGate: false,
  PreDownloadImageForInPlaceUpdate: false,
  CloneSetPartitionRollback: false,
  ResourcesDeletionProtection: false,
  WorkloadSpread: true,
  PodUnavailableBudgetDeleteGate: true,
  PodUnavailableBudgetUpdateGate: false,
  TemplateNoDefaults: false,
  InPlaceUpdateEnvFromMetadata: true,
  StatefulSetAutoDeletePVC: true,
  SidecarSetPatchPodMetadataDefaultsAllowed: false,
  SidecarTerminator: false,
  PodProbeMarkerGate: true,
  PreDownloadImageForDaemonSetUpdate: false,
  CloneSetEventHandlerOptimization: false,
  PreparingUpdateAsUpdate: false,
  ImagePullJobGate: false,
  ResourceDistributionGate: false,
  DeletionProtectionForCRDCascadingGate: false,
  EnhancedLivenessProbe: false,
  RecreatePodWhenChangeVCTInCloneSetGate: false,
  StatefulSetStartOrdinal: false,
  PodIndexLabel: true,
  EnableExternalCerts: false,
  StatefulSetAutoResizePVCGate: false,
  ForceDeleteTimeoutExpectationGate: false,
  InPlaceWorkloadVerticalScaling: false,
  EnablePodProbeMarkerOnServerless: false,
  EnableSortSidecarContainerByName: false,
  InPlacePodVerticalScaling: false,
} as const satisfies Readonly<Record<string, boolean>>;

type FeatureGate = keyof typeof DEFAULTS;

export interface FeatureGates {
  isOn(gate: FeatureGate): boolean;
}

/** Gates that require another one. */
const NEEDS: readonly [needed: FeatureGate, gates: readonly FeatureGate[]][] = [
  [
    "PodWebhook",
    [
      "KruisePodReadinessGate",
      "PodUnavailableBudgetDeleteGate",
      "PodUnavailableBudgetUpdateGate",
      "WorkloadSpread",
      "SidecarSetPatchPodMetadataDefaultsAllowed",
      "EnhancedLivenessProbe",
      "EnablePodProbeMarkerOnServerless",
    ],
  ],
  [
    "KruiseDaemon",
    [
      "PreDownloadImageForInPlaceUpdate",
      "DaemonWatchingPod",
      "InPlaceUpdateEnvFromMetadata",
      "PreDownloadImageForDaemonSetUpdate",
      "PodProbeMarkerGate",
      "SidecarTerminator",
      "ImagePullJobGate",
      "EnhancedLivenessProbe",
    ],
  ],
  ["ResourcesDeletionProtection", ["DeletionProtectionForCRDCascadingGate"]],
];

/** Beta, but off by default; the others that are off are alpha. */
const BETA_AND_OFF: ReadonlySet<string> = new Set(["ResourcesDeletionProtection"]);
/** Names that represent all gates of a stage that are not named explicitly. */
const STAGES: Readonly<Record<string, (gate: string, isOn: boolean) => boolean>> = {
  AllAlpha: (gate, isOn) => !isOn && !BETA_AND_OFF.has(gate),
  AllBeta: (gate, isOn) => isOn || BETA_AND_OFF.has(gate),
};

/**
 * `AllAlpha=true,CloneSetShortHash=false`, the command-line syntax of OpenKruise's manager. Throws for other syntax.
 */
export function parseFeatureGates(text: string): Record<string, boolean> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, gate = "", value = ""] = /^\s*(\w+)=(true|false)\s*$/.exec(pair) ?? [];
      if (gate === "")
        throw new FlotillaError(
          "UnknownFeatureGate",
          `reading the feature gates of OpenKruise: ${JSON.stringify(pair)} is not NAME=true or NAME=false`,
        );
      return [gate, value === "true"];
    }),
  );
}

/** Throws for a gate that OpenKruise 1.9.1 does not have. */
export function createFeatureGates(changes: Readonly<Record<string, boolean>> = {}): FeatureGates {
  const gates = new Map<string, boolean>(Object.entries(DEFAULTS));
  for (const [stage, isOfStage] of Object.entries(STAGES)) {
    const isOn = changes[stage];
    if (isOn !== undefined)
      for (const [gate, byDefault] of Object.entries(DEFAULTS)) if (isOfStage(gate, byDefault)) gates.set(gate, isOn);
  }
  for (const [gate, isOn] of Object.entries(changes)) {
    if (Object.hasOwn(STAGES, gate)) continue;
    if (!gates.has(gate))
      throw new FlotillaError(
        "UnknownFeatureGate",
        `reading the feature gates of OpenKruise: ${gate} is not a gate of release 1.9.1; known gates: ${[...gates.keys()].join(", ")}`,
      );
    gates.set(gate, isOn);
  }
  for (const [needed, dependent] of NEEDS) if (!gates.get(needed)) for (const gate of dependent) gates.set(gate, false);
  if (gates.get("PreDownloadImageForInPlaceUpdate") || gates.get("PreDownloadImageForDaemonSetUpdate"))
    gates.set("ImagePullJobGate", true);
  return { isOn: (gate) => gates.get(gate) ?? false };
}

/** OpenKruise's defaults. */
export const DEFAULT_GATES: FeatureGates = createFeatureGates();
