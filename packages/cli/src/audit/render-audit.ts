/** Prints records of the audit log as a table. Pure. */
import { renderTable } from "../text-table.ts";
import { renderChange, timeOf, userOf } from "./audit-records.ts";
import type { AuditRecord } from "./audit-records.ts";

/** To the millisecond, which orders decisions of one second. */
const timeText = (record: AuditRecord): string => timeOf(record).replace(/(\.\d{3})\d*Z$/, "$1Z");

export function renderAudit(records: readonly AuditRecord[], width?: number): string {
  if (records.length === 0) return "No records match.";
  return renderTable(
    ["TIME", "WHAT", "OBJECT", "BY", "CHANGE AND CAUSE"],
    records.map((record) => {
      if (record.type === "decision") {
        const { type, object, before, after, actor, cause } = record.decision;
        const name = `${object.kind.toLowerCase()}/${object.name}`;
        return [
          timeText(record),
          type,
          object.namespace === undefined ? name : `${object.namespace} ${name}`,
          actor.controller,
          [renderChange(before, after), `(${cause.reason}: ${cause.message})`].filter(Boolean).join(" "),
        ];
      }
      const { event } = record;
      const { resource = "", subresource, namespace, name = "" } = event.objectRef ?? {};
      const { code = 0, message } = event.responseStatus ?? {};
      const what = `${subresource === undefined ? resource : `${resource}/${subresource}`}/${name}`;
      return [
        timeText(record),
        event.verb,
        namespace === undefined ? what : `${namespace} ${what}`,
        userOf(event),
        code >= 400 ? `${code} ${message ?? ""}`.trim() : `${code}`,
      ];
    }),
    2,
    width,
  );
}
