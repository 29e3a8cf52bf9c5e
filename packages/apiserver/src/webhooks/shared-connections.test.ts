import { expect, test } from "vitest";
import { createSharedConnections } from "./shared-connections.ts";

function recorded() {
  const opened: (string | undefined)[] = [];
  const closed: (string | undefined)[] = [];
  const connections = createSharedConnections((caBundle) => {
    opened.push(caBundle);
    return { post: () => Promise.resolve(Buffer.from("{}")), close: () => closed.push(caBundle) };
  });
  return { connections, opened, closed };
}

test("webhooks of a cluster with the same CA share a connection, others do not", () => {
  const { connections, opened } = recorded();

  connections.open("hub", "ca1", undefined);
  connections.open("hub", "ca1", undefined);
  connections.open("hub", "ca2", undefined);
  connections.open("paris", "ca1", undefined);

  expect(opened).toEqual(["ca1", "ca2", "ca1"]);
});

test("the last user closes a shared connection, and the next opens another", () => {
  const { connections, opened, closed } = recorded();
  const first = connections.open("hub", "ca", undefined);
  const second = connections.open("hub", "ca", undefined);

  first.close();
  first.close(); // Once more changes nothing.
  expect(closed).toEqual([]);
  second.close();
  expect(closed).toEqual(["ca"]);
  connections.open("hub", "ca", undefined);

  expect(opened).toEqual(["ca", "ca"]);
});
