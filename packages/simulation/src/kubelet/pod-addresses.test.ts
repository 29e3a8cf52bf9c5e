import { expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { createPodAddresses } from "./pod-addresses.ts";

function startAddresses() {
  let listener: (event: ObjectEvent<Pod>) => void = () => {};
  const informers = {
    of: () => ({ subscribe: (listen: typeof listener) => void (listener = listen) }),
  } as unknown as Informers;
  const addresses = createPodAddresses(informers);
  const makePod = (uid: string, podIP?: string): DeepReadonly<Pod> => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, namespace: "shop", uid },
    spec: { containers: [] },
    status: podIP ? { podIP } : undefined,
  });
  return {
    addresses,
    seen: (uid: string, podIP: string) =>
      listener({ cluster: "paris", object: makePod(uid, podIP), old: makePod(uid), deleted: false }),
    gone: (uid: string, podIP?: string) => listener({ cluster: "paris", object: makePod(uid, podIP), deleted: true }),
  };
}

/** Their hashes collide, so both prefer the same address. */
const [FIRST, SECOND] = ["u-9449", "u-15226"] as const;

test("a pod keeps its address on repeated requests, and another pod gets a different one", () => {
  const { addresses } = startAddresses();

  const first = addresses.of("paris", FIRST);
  const second = addresses.of("paris", SECOND);

  expect(first).not.toBe(second);
  expect([addresses.of("paris", FIRST), addresses.of("paris", SECOND)]).toEqual([first, second]);
});

test("members do not share addresses", () => {
  const { addresses } = startAddresses();

  expect(addresses.of("paris", FIRST)).toBe(addresses.of("oslo", SECOND));
});

test("releases an address when its pod is deleted", () => {
  const { addresses, seen, gone } = startAddresses();
  const address = addresses.of("paris", FIRST);
  seen(FIRST, address);

  gone(FIRST, address);

  expect(addresses.of("paris", SECOND)).toBe(address);
});

test("releases an address when its pod is deleted before the address was written", () => {
  const { addresses, gone } = startAddresses();
  const address = addresses.of("paris", FIRST);

  gone(FIRST);

  expect(addresses.of("paris", SECOND)).toBe(address);
});
