import { expect, test } from "vitest";
import { FlotillaError } from "@flotilla/base";
import { agrees, runApply } from "./run-apply.ts";
import { createTestHub } from "../members/test-hub.ts";

const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a", namespace: "shop" } };

test("without --yes and without a terminal nothing is applied", async () => {
  const hub = createTestHub({ member1: {} });
  const terminal = { canAsk: false, ask: () => Promise.resolve("y") };

  await expect(runApply({ manifests: [thing], namespace: "shop", yes: false }, { ...hub, terminal })).rejects.toThrow(
    "cannot ask for confirmation without a terminal: use --yes",
  );

  expect(hub.asked).toEqual([]);
});

test("Ctrl-C at the confirmation reports that nothing was applied", async () => {
  const stop = new AbortController();
  const ask = (): Promise<undefined> => {
    stop.abort(new FlotillaError("Stopped", "interrupted by Ctrl-C"));
    return Promise.reject(stop.signal.reason as Error);
  };

  const asked = agrees([thing], { ask }, stop.signal);

  await expect(asked).rejects.toMatchObject({
    code: "Stopped",
    message: "interrupted by Ctrl-C; nothing was applied",
  });
});
