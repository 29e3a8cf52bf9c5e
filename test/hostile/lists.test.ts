/** Long lists: they are sent at the client's pace, and one that is not read costs neither memory nor other clients. */
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFrontDoor, TOKENS, type FrontDoor } from "./front-door.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const OBJECTS = 40;
/** Different in each object, so that a missing part would be noticed. */
const text = (index: number): string => `${index}:`.repeat(60_000);

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
  const api = door.api({ token: TOKENS.admin });
  for (let index = 0; index < OBJECTS; index++)
    await api.create(CONFIG_MAPS, {
      metadata: { name: `c${String(index).padStart(2, "0")}` },
      data: { text: text(index) },
    });
});
afterAll(async () => {
  expect(door.failures).toEqual([]);
  await door.close();
});

test.each([
  ["HTTP/2", false, false],
  ["HTTP/2, compressed", false, true],
  ["HTTP/1.1", true, false],
  ["HTTP/1.1, compressed", true, true],
])("a long list is complete over %s", async (_protocol, http1, isPacked) => {
  const api = door.api({ token: TOKENS.admin, http1 });

  const answer = await api.get(CONFIG_MAPS, { "accept-encoding": isPacked ? "gzip" : "identity" });

  expect(answer.headers["content-encoding"]).toBe(isPacked ? "gzip" : undefined);
  const list = JSON.parse((isPacked ? gunzipSync(answer.bytes) : answer.bytes).toString()) as {
    items: { data: { text: string } }[];
  };
  expect(list.items.filter(({ data }) => data?.text).map(({ data }) => data.text)).toEqual(
    Array.from({ length: OBJECTS }, (_, index) => text(index)),
  );
});

test("a long list has the same items as its pages", async () => {
  const api = door.api({ token: TOKENS.admin });
  const whole = (await api.get(CONFIG_MAPS)).body.items;
  const first = (await api.get(`${CONFIG_MAPS}?limit=5`)).body;
  const rest = (await api.get(`${CONFIG_MAPS}?continue=${encodeURIComponent(first.metadata.continue ?? "")}`)).body;

  expect([...first.items, ...rest.items]).toEqual(whole);
});

test.each(["identity", "gzip"])(
  "lists that are not read hold no copies, and delay no other client: %s",
  async (encoding) => {
    const before = process.memoryUsage().arrayBuffers;
    const sockets = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = await door.socket();
        socket.pause();
        socket.write(
          `GET ${CONFIG_MAPS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TOKENS.admin}\r\naccept-encoding: ${encoding}\r\n\r\n`,
        );
        return socket;
      }),
    );
    const isServing = await door.isServing();
    const held = process.memoryUsage().arrayBuffers - before;
    for (const socket of sockets) socket.destroy();

    expect(isServing).toBe(true);
    // A copy of each would be 680 MB.
    expect(held).toBeLessThan(140_000_000);
  },
);
