import { expect, test } from "vitest";
import { planRegistrationState, registrationAnnotations, registrationOf } from "./plan-registration.ts";
import type { Registration, RegistrationPlan } from "./plan-registration.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const AGENT = "system:karmada:agent:paris";
const by = "system:bootstrap:abcdef";
const reserved: Registration = { by, reservedUntilMs: NOW + 1000 };

const cases: Record<
  string,
  { hasRole?: boolean; registration?: Registration; cluster?: { isPull: boolean }; want: RegistrationPlan }
> = {
  "is kept until the certificate expires": {
    registration: reserved,
    want: { type: "keep", registration: reserved, recheckAfterMs: 1000 },
  },
  "is removed when the certificate has expired without a Cluster": {
    registration: { by, reservedUntilMs: NOW },
    want: { type: "remove" },
  },
  "is kept for ever once the Cluster exists": {
    registration: reserved,
    cluster: { isPull: true },
    want: { type: "keep", registration: { by } },
  },
  "is removed when the Cluster has left": { registration: { by }, want: { type: "remove" } },
  "is removed if the cluster became a push member": {
    registration: { by },
    cluster: { isPull: false },
    want: { type: "remove" },
  },
  "is removed completely when its ClusterRole was deleted": {
    hasRole: false,
    cluster: { isPull: true },
    want: { type: "remove" },
  },
  "that karmadactl made is taken over when the Cluster exists": {
    cluster: { isPull: true },
    want: { type: "keep", registration: { by: AGENT } },
  },
  "that karmadactl is making is left alone": { want: { type: "leave" } },
};
for (const [behaviour, { hasRole = true, registration, cluster, want }] of Object.entries(cases)) {
  test(`the registration of an agent ${behaviour}`, () => {
    expect(planRegistrationState({ hasRole, registration, cluster, agent: AGENT, nowMs: NOW })).toEqual(want);
  });
}

const role = (annotations: Record<string, string>) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "r", annotations },
});

test("a registration is read as it was written, with and without a reservation", () => {
  for (const registration of [reserved, { by, reservedUntilMs: undefined }])
    expect(registrationOf(role(registrationAnnotations(registration)))).toEqual(registration);
});

test("a reservation with an unreadable time has expired", () => {
  const annotations = { "flotilla.dev/registered-by": by, "flotilla.dev/reserved-until": "soon" };

  expect(registrationOf(role(annotations))).toEqual({ by, reservedUntilMs: 0 });
});
