/**
 * A table of any length: only the rows on the screen exist. Rows have one height, so the place of every row is known
 * without measuring.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<T> {
  key: string;
  title: string;
  /** A width in CSS; `1fr` shares what is left. */
  width: string;
  /** Hidden on narrow screens. */
  minor?: boolean;
  align?: "end";
  cell(row: T): ComponentChildren;
}

export interface TableProps<T> {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf(row: T): string;
  /** The address that a row opens. */
  hrefOf(row: T): string;
  sort?: string;
  onSort?: (key: string) => void;
  rowClass?: (row: T) => string;
}

const ROW = 34;
const OVERSCAN = 8;

export function Table<T>({ label, rows, columns, keyOf, hrefOf, sort, onSort, rowClass }: TableProps<T>) {
  const body = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [cursor, setCursor] = useState(-1);
  const template = columns.map(({ width }) => width).join(" ");

  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);
  useEffect(() => {
    const element = body.current;
    if (!element || cursor < 0) return;
    const top = cursor * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
  }, [cursor]);

  const first = Math.max(0, Math.floor(view.top / ROW) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + OVERSCAN);
  const move = (by: number): void =>
    setCursor((now) => Math.max(0, Math.min(rows.length - 1, (now < 0 ? -1 : now) + by)));
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(view.height / ROW) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) move(step);
    else if (event.key === "Enter" && rows[cursor] !== undefined) location.hash = hrefOf(rows[cursor]);
    else return;
    event.preventDefault();
  };
  const current = rows[cursor];
  return (
    <div
      class="table"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={current === undefined ? undefined : `row-${keyOf(current)}`}
      onKeyDown={onKey}
    >
      <div class="table-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map(({ key, title, minor, align }) => (
          <span
            key={key}
            role="columnheader"
            class={`${minor ? "minor" : ""} ${align ?? ""}`}
            aria-sort={sort === key ? "ascending" : undefined}
          >
            {onSort && title !== "" ? (
              <button type="button" class="quiet" tabIndex={-1} onClick={() => onSort(key)}>
                {title}
                {sort === key ? " ↓" : ""}
              </button>
            ) : (
              title
            )}
          </span>
        ))}
      </div>
      <div class="table-body" ref={body} role="rowgroup">
        <div class="table-space" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(first, last).map((row, offset) => {
            const index = first + offset;
            const key = keyOf(row);
            return (
              <div
                key={key}
                id={`row-${key}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={index === cursor}
                class={`table-row ${index === cursor ? "cursor" : ""} ${rowClass?.(row) ?? ""}`}
                style={{ gridTemplateColumns: template, transform: `translateY(${index * ROW}px)` }}
                onMouseDown={() => setCursor(index)}
              >
                {columns.map(({ key: column, minor, align, cell }, place) => (
                  <span key={column} role="gridcell" class={`${minor ? "minor" : ""} ${align ?? ""}`}>
                    {place === 0 ? (
                      // It covers the whole row, so that a row opens like every link.
                      <a class="row-link" href={hrefOf(row)} tabIndex={-1}>
                        {cell(row)}
                      </a>
                    ) : (
                      cell(row)
                    )}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
