/** Validation of EphemeralJob, as in OpenKruise's webhook. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { checkEphemeralTemplate } from "@flotilla/kubernetes";
import { kruiseAdmission } from "../api/webhook.ts";
import { EphemeralJob } from "./ephemeraljob-kind.ts";

export const ephemeralJobRules = (): AnyAdmission[] => [
  kruiseAdmission(EphemeralJob, {
    name: "ephemeraljob",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    check: ({ object }) =>
      checkEphemeralTemplate("ephemeralContainers", object.spec.template?.ephemeralContainers ?? []),
  }),
];
