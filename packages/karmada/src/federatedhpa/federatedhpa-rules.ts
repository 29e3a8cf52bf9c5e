/** Defaults and validation of FederatedHPA, as in Karmada's webhooks: those of a HorizontalPodAutoscaler. */
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import { field } from "@flotilla/apimachinery";
import { checkAutoscaler, defaultAutoscaler } from "@flotilla/kubernetes";
import type { HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { FederatedHpa } from "./federatedhpa-kind.ts";

export const federatedHpaRules: AnyAdmission[] = [
  karmadaAdmission(FederatedHpa, {
    name: "federatedhpa.karmada.io",
    completes: {
      table: "autoscaling-karmada-v1alpha1",
      complete: (object) => {
        const { spec } = defaultAutoscaler(object);
        return spec === object.spec ? object : { ...object, spec };
      },
    },
    check: ({ object }) => checkFederatedHpa(object.spec as Sent<HorizontalPodAutoscaler["spec"]>),
  }),
];

/** Karmada reports every maximum below one alike, and accepts a reference without a group. */
function checkFederatedHpa(spec: Sent<HorizontalPodAutoscaler["spec"]>): FieldError[] {
  const { maxReplicas = 0 } = spec;
  const errors = checkAutoscaler(spec, spec).filter(
    ({ field: at, type }) => !(at === "spec.maxReplicas" && maxReplicas < 1 && type !== "Forbidden"),
  );
  return maxReplicas < 1
    ? [...errors, field.invalid("spec.maxReplicas", maxReplicas, "must be greater than 0")]
    : errors;
}
