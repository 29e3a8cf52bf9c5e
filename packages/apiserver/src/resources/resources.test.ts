/** What profiles that serve the same kinds share. */
import { expect, test } from "vitest";
import { ConfigMap, Event, EventsEvent } from "@flotilla/kubernetes";
import { createResources } from "./resources.ts";

test("profiles that serve the same kind share its resource, and with it the compiled schemas", () => {
  const [one] = createResources([ConfigMap]);
  const [other] = createResources([ConfigMap]);

  expect(other).toBe(one);
});

test("a view is stored in the place of the kind that it is a view of", () => {
  const [stored, view] = createResources([Event, EventsEvent]);

  expect(view?.prefix).toBe(stored?.prefix);
  expect(view?.storage).toBe(stored?.storage);
});
