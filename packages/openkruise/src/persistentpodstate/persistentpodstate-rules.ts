/** Validation of PersistentPodState, as in OpenKruise's webhook. */
import { field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import { kruiseAdmission } from "../api/webhook.ts";
import { PersistentPodState } from "./persistentpodstate-kind.ts";
import { targetKindOf } from "./targets.ts";
import { isSameTarget } from "../workloadspread/spread-targets.ts";

function checkPodState({ object, oldObject, read }: Review<PersistentPodState>): FieldError[] {
  const { targetRef, requiredPersistentTopology, preferredPersistentTopology = [] } = object.spec;
  const errors: FieldError[] = [];
  const invalid = (problem: string): void =>
    void errors.push(field.invalid("spec.TargetReference", targetRef, problem));
  if (!targetRef?.apiVersion || !targetRef.name || !targetRef.kind)
    invalid("empty TargetReference is not valid for PersistentPodState.");
  if (!targetRef || !targetKindOf(targetRef))
    invalid("TargetReference.Kind must be StatefulSet or in PPS_Watch_Custom_Workload_WhiteList");
  if (!requiredPersistentTopology && preferredPersistentTopology.length === 0)
    errors.push(
      field.invalid("spec", object.spec, "TopologyConstraint and TopologyPreference cannot be empty at the same time"),
    );
  if (oldObject && !equalJson(oldObject.spec.targetRef, targetRef))
    errors.push(field.required("spec.targetRef", "targetRef cannot be modified"));
  const { name, namespace } = object.metadata;
  const other = read
    .list(PersistentPodState, namespace)
    .find((one) => one.metadata.name !== name && targetRef && isSameTarget(one.spec.targetRef, targetRef));
  if (other)
    errors.push(
      field.invalid(
        "spec.targetReference",
        targetRef,
        `targetReference is in conflict with other PersistentPodState ${other.metadata.name}`,
      ),
    );
  return errors;
}

export const persistentPodStateRules = (): AnyAdmission[] => [
  kruiseAdmission(PersistentPodState, {
    name: "persistentpodstate",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    check: checkPodState,
  }),
];
