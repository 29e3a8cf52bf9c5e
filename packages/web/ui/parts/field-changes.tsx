/** Changed fields of an object: the path, the value before and the value after. */
export interface FieldChange {
  path: string;
  before?: unknown;
  after?: unknown;
}

export function Fields({ changes }: { changes: readonly FieldChange[] }) {
  if (changes.length === 0) return <span class="muted">–</span>;
  return (
    <ul class="plain fields">
      {changes.map(({ path, before, after }) => (
        <li key={path} class="mono">
          <span class="muted">{path}</span> <del>{show(before)}</del> → <ins>{show(after)}</ins>
        </li>
      ))}
    </ul>
  );
}

const MAX_SHOWN = 160;
function show(value: unknown): string {
  if (value === undefined) return "∅";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
