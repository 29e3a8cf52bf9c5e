import { kindAdmissions } from "@flotilla/server";
import { describeAdmission } from "./admission.ts";
import { kinds, minimalObject } from "./minimal-objects.ts";

for (const admission of kindAdmissions) {
  const kind = kinds.find(({ group, kind: name }) => group === admission.for.group && name === admission.for.kind);
  if (!kind) throw new Error(`${admission.for.kind} has an admission but no minimal object`);
  describeAdmission(admission, minimalObject(kind));
}
