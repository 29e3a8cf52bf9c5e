import { expect, test } from "vitest";
import { notFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import { Deployment } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { cleanUp } from "./clean-up.ts";
import type { CreatedObjects } from "./clean-up.ts";

const created: CreatedObjects = {
  templates: [{ kind: Deployment, title: "Deployment shop/web", namespace: "shop", name: "web", uid: "1" }],
  policies: [
    {
      kind: PropagationPolicy,
      title: "PropagationPolicy shop/web-1",
      namespace: "shop",
      name: "web-1",
      uid: "2",
    },
  ],
};
const { signal } = new AbortController();
const failure = new FlotillaError("Adopt", "the hub created 1 of 2 works");
const hub = (remove: (kind: string) => void) => ({ delete: (kind: Kind) => Promise.try(remove, kind.kind) }) as never;

test("what was created is deleted, the template first, also if the garbage collector was faster", async () => {
  const deleted: string[] = [];
  const client = hub((kind) => {
    deleted.push(kind);
    if (kind === "PropagationPolicy")
      throw notFound({ group: "policy.karmada.io", resource: "propagationpolicies" }, "web-1");
  });

  const { message } = await cleanUp(failure, created, { client, signal });

  expect(deleted).toEqual(["Deployment", "PropagationPolicy"]);
  expect(message).toBe(
    "the hub created 1 of 2 works; no member was changed. Deleted again on the hub: Deployment shop/web, PropagationPolicy shop/web-1",
  );
});

test("what the hub does not delete is named, with the cause", async () => {
  const client = hub(() => {
    throw new FlotillaError("Forbidden", "you may not delete deployments");
  });

  const { message } = await cleanUp(failure, created, { client, signal });

  expect(message).toBe(
    "the hub created 1 of 2 works; no member was changed. The hub did not delete all that was created (you may not " +
      "delete deployments): Deployment shop/web, PropagationPolicy shop/web-1; flotilla.dev/unmanaged keeps members as " +
      "they are. Run the same command again to continue, or delete what remains",
  );
});

test("an interrupted adoption deletes nothing, and names what remains", async () => {
  const client = hub(() => expect.unreachable());
  const stopped = AbortSignal.abort(new FlotillaError("Stopped", "interrupted by Ctrl-C"));

  const error = await cleanUp(failure, created, { client, signal: stopped });

  expect(error).toMatchObject({ code: "Stopped" });
  expect(error.message).toMatch(
    /^interrupted by Ctrl-C; no member was changed\. On the hub remain Deployment shop\/web, /,
  );
});

test("a failure before anything was created is reported as it is", async () => {
  const forbidden = new FlotillaError("Forbidden", "you may not create policies");

  const error = await cleanUp(
    forbidden,
    { templates: [], policies: [] },
    { client: hub(() => expect.unreachable()), signal },
  );

  expect(error).toBe(forbidden);
});
