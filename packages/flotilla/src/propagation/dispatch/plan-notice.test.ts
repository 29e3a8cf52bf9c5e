import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { planNotice, PODS_FOUND } from "./plan-notice.ts";

const NOW = "2024-05-01T12:00:00Z";

test("does not claim that members have named pods after the names were removed", () => {
  const notice = { status: "False", reason: "PodsNotFound", message: "no member has web-x" } as const;
  const before = planNotice({ metadata: { name: "web" }, spec: {} } as ResourceBinding, PODS_FOUND, notice, NOW);

  const after = planNotice(before, PODS_FOUND, undefined, NOW);

  expect(after.status?.conditions).toEqual([
    expect.objectContaining({ status: "True", message: "No pod is named that members do not have." }),
  ]);
});
