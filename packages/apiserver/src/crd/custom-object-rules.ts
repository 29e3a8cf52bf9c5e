/** The conditions of a CRD while it is being deleted. */
import type { JsonObject } from "@flotilla/base";
import { CRD_FINALIZER, conditionOf } from "../resources/definition.ts";
import type { Definition, DefinitionCondition } from "../resources/definition.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";

/**
 * The first deletion of a CRD marks it, whatever propagation policy the request specifies: its objects are deleted
 * first, and creating more is rejected from now on.
 */
export function crdMarkedForDeletion(object: JsonObject, now: string): JsonObject {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  const finalizers = [...new Set([...finalizersOf(metadata), CRD_FINALIZER])];
  const marked = { ...object, metadata: { ...metadata, deletionTimestamp: now, finalizers } };
  return withTerminating(
    marked,
    now,
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  );
}

/** The objects of a CRD are being deleted. */
export function markDeleting(object: JsonObject, now: string): JsonObject {
  return withTerminating(object, now, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
}

function withTerminating(object: JsonObject, now: string, reason: string, message: string): JsonObject {
  const { status } = object as unknown as Definition;
  const before = conditionOf(object as unknown as Definition, "Terminating");
  const condition: DefinitionCondition = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: before?.lastTransitionTime ?? now,
    reason,
    message,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Terminating");
  return { ...object, status: { ...status, conditions: [...others, condition] } as unknown as JsonObject };
}
