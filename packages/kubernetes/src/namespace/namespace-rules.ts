/** Defaults and validation of Namespace. */
import { NAMESPACE_NAME_LABEL } from "../well-known-names.ts";
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, checkText, field, fill, labelKeyProblems } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { Namespace } from "./namespace-kind.ts";

const FINALIZER = "kubernetes";
const KNOWN_FINALIZERS = new Set([FINALIZER, "orphan", "foregroundDeletion"]);

/** Every namespace has its name as a label, so that selectors can match it. */
function complete(namespace: DeepReadonly<Namespace>): DeepReadonly<Namespace> {
  const { metadata } = namespace;
  if (metadata.labels?.[NAMESPACE_NAME_LABEL] === metadata.name) return namespace;
  return {
    ...namespace,
    metadata: { ...metadata, labels: { ...metadata.labels, [NAMESPACE_NAME_LABEL]: metadata.name } },
  };
}

/**
 * Sets the finalizer that blocks deletion until the namespace is empty, and the phase. Finalizers change only through
 * `finalize`.
 */
function prepare(
  namespace: DeepReadonly<Namespace>,
  old: DeepReadonly<Namespace> | undefined,
  subresource: string | undefined,
): DeepReadonly<Namespace> {
  if (!old) {
    const { finalizers = [] } = namespace.spec ?? {};
    return {
      ...namespace,
      spec: { ...namespace.spec, finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER] },
      status: { phase: "Active" },
    };
  }
  return subresource === undefined && old.spec !== undefined ? { ...namespace, spec: old.spec } : namespace;
}

/** Returns a namespace as a create request would store it. */
export function asNewNamespace(namespace: DeepReadonly<Namespace>): DeepReadonly<Namespace> {
  return prepare(complete(namespace), undefined, undefined);
}

function checkFinalizers({ spec }: DeepReadonly<Namespace>, subresource: string | undefined): FieldError[] {
  return (spec?.finalizers ?? []).flatMap((finalizer, index) => {
    const at = subresource === "finalize" ? `spec.finalizers[${index}]` : "spec.finalizers";
    const known = finalizer.includes("/") || KNOWN_FINALIZERS.has(finalizer);
    return [
      ...checkText(at, finalizer, labelKeyProblems),
      ...(known
        ? []
        : [field.invalid(at, finalizer, "name is neither a standard finalizer name nor is it fully qualified")]),
    ];
  });
}

function checkPhase({ metadata, status }: DeepReadonly<Namespace>): FieldError[] {
  const phase = status?.phase ?? "";
  if (metadata.deletionTimestamp === undefined)
    return phase === "Active"
      ? []
      : [field.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  return phase === "Terminating"
    ? []
    : [field.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Namespace, "core-v1", {
    complete,
    prepare: (namespace, { oldObject, subresource }) => prepare(namespace, oldObject, subresource),
    validate: ({ object, subresource }) => checkFinalizers(object, subresource),
    completeStatus: (namespace) =>
      change(fill(namespace, { status: {} }), "status", (status) => fill(status, { phase: "Active" })),
    validateStatus: ({ object }) => checkPhase(object),
  }),
];
