import { expect, test } from "vitest";
import { clientKeyOf } from "./client-key.ts";

const cases: Record<string, { cluster: string; user: string; want: string }> = {
  "a user of the hub counts alone": { cluster: "hub", user: "ann", want: "user ann" },
  "all service accounts of a namespace count as one": {
    cluster: "hub",
    user: "system:serviceaccount:shop:web",
    want: "namespace shop",
  },
  "all users of another logical cluster count as one": { cluster: "paris", user: "ann", want: "cluster paris" },
};
for (const [name, { cluster, user, want }] of Object.entries(cases))
  test(name, () => expect(clientKeyOf(cluster, user)).toBe(want));
