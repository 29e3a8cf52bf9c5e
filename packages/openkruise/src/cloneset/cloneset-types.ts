/**
 * The types of a CloneSet in both versions. v1alpha1 is generated from the published module; v1beta1 comes with
 * OpenKruise's next release and is declared here as differences from v1alpha1.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type {
  CloneSet as CloneSetFacts,
  CloneSetScaleStrategy as ScaleStrategyFacts,
  CloneSetSpec as CloneSetSpecFacts,
  CloneSetStatus,
  CloneSetUpdateStrategy as UpdateStrategyFacts,
} from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { InPlaceUpdateStrategy } from "@flotilla/apimachinery/facts/pub-kruise.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";

export type CloneSetV1alpha1 = CloneSetFacts;

export interface CloneSet extends KubernetesObject {
  spec: CloneSetSpec;
  status?: CloneSetStatus;
}

export interface CloneSetSpec extends Omit<CloneSetSpecFacts, "scaleStrategy" | "updateStrategy"> {
  scaleStrategy?: CloneSetScaleStrategy;
  updateStrategy?: CloneSetUpdateStrategy;
}

interface CloneSetScaleStrategy extends Omit<ScaleStrategyFacts, "disablePVCReuse"> {
  enablePVCReuse?: boolean;
  excludePreparingDelete?: boolean;
}

export interface CloneSetUpdateStrategy {
  type?: "RollingUpdate" | "OnDelete";
  rollingUpdate?: CloneSetRollingUpdate;
}

export interface CloneSetRollingUpdate extends Omit<UpdateStrategyFacts, "type" | "inPlaceUpdateStrategy"> {
  podUpdatePolicy?: "ReCreate" | "InPlaceIfPossible" | "InPlaceOnly";
  inPlaceUpdateStrategy?: CloneSetInPlaceUpdateStrategy;
}

interface CloneSetInPlaceUpdateStrategy extends InPlaceUpdateStrategy {
  imagePreDownloadParallelism?: IntOrString;
  imagePreDownloadTimeoutSeconds?: number;
  imagePreDownloadMinUpdatedReadyPods?: number;
}
