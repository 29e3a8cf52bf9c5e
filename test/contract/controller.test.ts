/** The controller contract on the fake client. */
import { dynamicKind } from "../../src/api/index.ts";
import { createFakeClock } from "../../src/base/index.ts";
import { createFakeClient } from "../../src/testing/index.ts";
import { controllerContract } from "./controller.ts";

controllerContract("the fake client", async () => {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  return {
    client,
    clock,
    server: client,
    cluster: "hub",
    namespace: "shop",
    kind: dynamicKind({ group: "example.dev", version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }),
    ownedKind: dynamicKind({ group: "example.dev", version: "v1", kind: "Part", plural: "parts", scope: "Namespaced" }),
    close: async () => {},
  };
});
