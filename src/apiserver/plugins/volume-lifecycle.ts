/**
 * Fields that the server sets on volumes and claims: the protection finalizer, the initial
 * phase of a volume or claim and the time of its last change, and the two data source fields of a claim.
 */
import { prepareClaim } from "../../api/index.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../../base/index.ts";
import type { RequestContext } from "../context.ts";
import { withFinalizer } from "../write/metadata.ts";
import type { Plugin } from "../plugin.ts";

type Read = DeepReadonly<JsonObject>;

const VOLUME_FINALIZER = "kubernetes.io/pv-protection";
const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";

function kindOf({ served: { resource } }: RequestContext): "volume" | "claim" | undefined {
  const { kind, group, builtIn } = resource.kind;
  if (!builtIn || group !== "") return undefined;
  return kind === "PersistentVolume" ? "volume" : kind === "PersistentVolumeClaim" ? "claim" : undefined;
}

export function createVolumeLifecycle({ clock }: { clock: Clock }): Plugin {
  return {
    name: "VolumeLifecycle",
    group: "",
    concerns: (context, operation) => operation !== "DELETE" && kindOf(context) !== undefined,
    mutate({ context, operation, object, oldObject }): Read {
      const isNew = operation === "CREATE";
      if (kindOf(context) === "volume") {
        if (isNew)
          return {
            ...withFinalizer(object, VOLUME_FINALIZER),
            status: { phase: "Pending", lastPhaseTransitionTime: formatTime(clock.now()) },
          };
        return context.subresource === "status" ? withTransition(object, oldObject ?? object) : object;
      }
      if (context.subresource !== undefined) return object;
      const claim = prepareClaim(
        object as unknown as DeepReadonly<PersistentVolumeClaim>,
        oldObject as unknown as DeepReadonly<PersistentVolumeClaim> | undefined,
      ) as unknown as Read;
      return isNew ? { ...withFinalizer(claim, CLAIM_FINALIZER), status: { phase: "Pending" } } : claim;
    },
  };

  /** A change of the phase gets a transition time, unless its writer set one. */
  function withTransition(object: Read, oldObject: Read): Read {
    const { status = {} } = object as unknown as DeepReadonly<PersistentVolume>;
    const { status: before = {} } = oldObject as unknown as DeepReadonly<PersistentVolume>;
    const { lastPhaseTransitionTime: time } = status;
    const isSame = status.phase === before.phase;
    if (
      isSame
        ? time !== undefined || before.lastPhaseTransitionTime === undefined
        : time !== undefined && time !== before.lastPhaseTransitionTime
    )
      return object;
    const dated = isSame ? before.lastPhaseTransitionTime : formatTime(clock.now());
    return {
      ...object,
      status: {
        ...(object.status as JsonObject | undefined),
        ...(dated !== undefined && { lastPhaseTransitionTime: dated }),
      },
    };
  }
}
