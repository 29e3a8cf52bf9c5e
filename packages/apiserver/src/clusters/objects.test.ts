import type { JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { createTestServer } from "../test-server.ts";

const NAMESPACES = "/api/v1/namespaces";
const namesIn = ({ items }: JsonObject): unknown[] =>
  (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

test("objects of the profile and stored ones are listed in one order, whole and in pages, without deleted ones", async () => {
  const { request, settle } = await createTestServer();
  for (const name of ["zoo", "ant", "kube-a"]) await request("POST", NAMESPACES, { metadata: { name } });
  await request("DELETE", `${NAMESPACES}/ant`);
  await settle();

  const whole = await request("GET", NAMESPACES);
  const pages: unknown[] = [];
  let rest = "";
  do {
    const { body } = await request("GET", `${NAMESPACES}?limit=1${rest}`);
    pages.push(...namesIn(body));
    const { continue: next } = body.metadata as { continue?: string };
    rest = next ? `&continue=${next}` : "";
  } while (rest !== "");

  expect(namesIn(whole.body)).toEqual(["default", "kube-a", "kube-system", "zoo"]);
  expect(pages).toEqual(["default", "kube-a", "kube-system", "zoo"]);
});
