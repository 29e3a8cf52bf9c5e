/** What OpenKruise's kinds declare beyond other kinds, and features of OpenKruise that have no kind. */
import type { AnyAdmission, ClusterReader } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Controller, RecordedEvent } from "@flotilla/controller-runtime";
import type { KindDefinition, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import type { FeatureGates } from "./feature-gates.ts";

/** Options of the webhooks that read other objects. */
export interface KruiseWebhookOptions {
  /** Whether OpenKruise runs in this cluster; the hub only propagates its objects. */
  appliesTo(cluster: string): boolean;
  /**
   * A member may lack OpenKruise, or have only some of its kinds, which is enough for features that need none of them.
   * Called only for the few objects that use a feature.
   */
  isInstalled(read: ClusterReader): boolean;
  gates: FeatureGates;
  /** The clock of the controllers. */
  nowMs(): number;
  /** Emits an event for a rejection under this component's name. Unset emits none. */
  recordEvent?(component: string, cluster: string, pod: ReadonlyPod, event: RecordedEvent): void;
}

export interface KruiseDependencies extends WorkloadDependencies {
  /** Unset means OpenKruise's defaults. */
  gates?: FeatureGates;
  /**
   * A disruption budget may block the update of a pod (gate PodUnavailableBudgetUpdateGate). Unset allows every update.
   */
  mayUpdatePod?(cluster: string, pod: ReadonlyPod): Promise<boolean>;
}

/** The parts of OpenKruise that run in a cluster. */
export interface KruiseFeature {
  /** Webhooks that read other objects. They apply only in clusters that run OpenKruise. */
  webhooks?(options: KruiseWebhookOptions): readonly AnyAdmission[];
  controllers?(deps: KruiseDependencies): readonly Controller<ObjectKey>[];
}

export interface KruiseDefinition extends KindDefinition<FeatureGates>, KruiseFeature {
  readonly rules?: readonly AnyAdmission[] | ((gates: FeatureGates) => readonly AnyAdmission[]);
  controllers?(deps: KruiseDependencies): readonly Controller<ObjectKey>[];
  /**
   * The paths of fields that `version` has neither as a field nor as an annotation, for an object in the other version.
   * OpenKruise's own conversions drop them.
   */
  fieldsMissingIn?(version: string, object: JsonObject): readonly string[];
  /** Expands short forms in a manifest for members: the hub accepts them, members reject them. */
  expandShorthand?(manifest: DeepReadonly<JsonObject>, warn: (text: string) => void): DeepReadonly<JsonObject>;
}

export const defineKruiseKind = (definition: KruiseDefinition): KruiseDefinition => definition;
