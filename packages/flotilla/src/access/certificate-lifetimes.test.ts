import { expect, test } from "vitest";
import { agentCertificateLifetime } from "./certificate-lifetimes.ts";

const DAY = 24 * 60 * 60;
const days = (defaultDays: number, maxDays: number) => ({
  defaultSeconds: defaultDays * DAY,
  maxSeconds: maxDays * DAY,
});

const cases: Record<string, { commonName: string; organizations: string[]; want: object | undefined }> = {
  "of Karmada's agent lives a week, at most thirty days": {
    commonName: "system:karmada:agent:paris",
    organizations: ["system:karmada:agents"],
    want: days(7, 30),
  },
  "of Open Cluster Management's agent lives a week, at most thirty days": {
    commonName: "system:open-cluster-management:paris:a1",
    organizations: ["system:open-cluster-management:paris", "system:open-cluster-management:managed-clusters"],
    want: days(7, 30),
  },
  "of the user that grants permissions lives an hour, whatever its groups": {
    commonName: "system:karmada:agent:rbac-generator",
    organizations: [],
    want: { defaultSeconds: 3600, maxSeconds: 3600 },
  },
  "of another user has no limit of its own": { commonName: "jane", organizations: ["dev"], want: undefined },
};
for (const [behaviour, { want, ...subject }] of Object.entries(cases)) {
  test(`a certificate ${behaviour}`, () => {
    expect(agentCertificateLifetime(subject)).toEqual(want);
  });
}
