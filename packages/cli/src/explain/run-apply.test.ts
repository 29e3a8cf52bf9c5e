import { expect, test } from "vitest";
import { FlotillaError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { agrees, isNeeded, runApply } from "./run-apply.ts";
import { createTestHub } from "../members/test-hub.ts";

const namespace = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: { group: "example.com", names: { kind: "Thing" } },
};
const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a", namespace: "shop" } };

const cases: Record<string, { manifest: JsonObject; others: JsonObject[]; want: boolean }> = {
  "a namespace used by another manifest": { manifest: namespace("shop"), others: [thing], want: true },
  "the default namespace of a manifest without one": {
    manifest: namespace("fallback"),
    others: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }],
    want: true,
  },
  "an unused namespace": { manifest: namespace("other"), others: [thing], want: false },
  "the CRD of another manifest": { manifest: definition, others: [thing], want: true },
  "an unused CRD": { manifest: definition, others: [namespace("shop")], want: false },
  "any other object": { manifest: thing, others: [thing], want: false },
};
for (const [what, { manifest, others, want }] of Object.entries(cases)) {
  test(`${what} ${want ? "comes first" : "comes with the others"}`, () => {
    expect(isNeeded(manifest, [manifest, ...others], "fallback")).toBe(want);
  });
}

test("without --yes and without a terminal nothing is applied", async () => {
  const hub = createTestHub({ member1: {} });
  const terminal = { canAsk: false, ask: () => Promise.resolve("y") };

  await expect(runApply({ manifests: [thing], namespace: "shop", yes: false }, { ...hub, terminal })).rejects.toThrow(
    "cannot ask for confirmation without a terminal: use --yes",
  );

  expect(hub.asked).toEqual([]);
});

for (const [isBegun, want] of [
  [false, "interrupted by Ctrl-C; nothing was applied"],
  [true, "interrupted by Ctrl-C; nothing else was applied"],
] as const) {
  test(`Ctrl-C at the confirmation reports: ${want}`, async () => {
    const stop = new AbortController();
    const ask = (): Promise<undefined> => {
      stop.abort(new FlotillaError("Stopped", "interrupted by Ctrl-C"));
      return Promise.reject(stop.signal.reason as Error);
    };

    const asked = agrees([thing], isBegun, { ask }, stop.signal);

    await expect(asked).rejects.toMatchObject({ code: "Stopped", message: want });
  });
}
