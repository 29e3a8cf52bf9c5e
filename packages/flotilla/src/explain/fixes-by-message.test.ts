import { expect, test } from "vitest";
import { fixForHubRejection } from "./fixes-by-message.ts";

const refused = "m1: the hub cannot write the Work: ";
const cases: Record<string, { message: string; want: RegExp }> = {
  "an admission policy": {
    message: "ValidatingAdmissionPolicy 'freeze' with binding 'all' denied request: change freeze",
    want: /^change ValidatingAdmissionPolicy freeze of the hub or its binding/,
  },
  "a webhook that denies": {
    message: 'admission webhook "guard.example.com" denied the request: no',
    want: /^change what webhook guard\.example\.com of the hub denies/,
  },
  "a webhook that does not answer": {
    message: 'Internal error occurred: failed calling webhook "guard.example.com": connection refused',
    want: /^start the server of webhook guard\.example\.com/,
  },
  "a quota of objects": {
    message: "exceeded quota: few, requested: count/works=1, used: count/works=5, limited: count/works=5",
    want: /^raise or delete ResourceQuota few in the namespace/,
  },
  "a right that the hub's controllers lack": {
    message:
      'User "fleet" cannot create resource "works" in API group "work.karmada.io" in the namespace "karmada-es-m1"',
    want: /^let user fleet create works on the hub, with a ClusterRole and a ClusterRoleBinding;/,
  },
  "a copy that is too large": {
    message: "Request entity too large: limit is 3145728",
    want: /^make the template smaller, such as by moving data into ConfigMaps/,
  },
  "any other cause, which is not taken for an admission policy": {
    message: "etcdserver: request timed out",
    want: /^remove the cause on the hub, whose API server does not store the write;/,
  },
};
for (const [cause, { message, want }] of Object.entries(cases))
  test(`the advice for a rejected write fits ${cause}`, () => {
    const fix = fixForHubRejection(`${refused}${message}; these members keep what they have`);

    expect(fix).toMatch(want);
    expect(fix).toMatch(/; the hub retries within a minute$/);
  });
