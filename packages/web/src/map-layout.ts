/** Places squares in groups, row by row, as large as the number of them allows. Pure. */

export interface MapLayout {
  height: number;
  groups: { x: number; y: number; title: string; count: number }[];
  /** In the order of the items. `fill` is the side of what is drawn inside the square. */
  squares: { x: number; y: number; size: number; fill: number }[];
}

const TITLE = 22;
const GAP = 16;
const SIZES: readonly (readonly [most: number, size: number])[] = [
  [12, 84],
  [40, 60],
  [150, 34],
  [500, 22],
  [2_000, 14],
];
const SMALLEST = 9;

export function layoutMap(items: readonly { group: string; weight: number }[], width: number): MapLayout {
  const size = SIZES.find(([most]) => items.length <= most)?.[1] ?? SMALLEST;
  const heaviest = Math.max(0, ...items.map(({ weight }) => weight));
  const squares = items.map(() => ({ x: 0, y: 0, size, fill: 0 }));
  const groups = new Map<string, number[]>();
  for (const [index, { group }] of items.entries()) groups.set(group, [...(groups.get(group) ?? []), index]);
  const layout: MapLayout = { height: 0, groups: [], squares };
  let [left, top, rowHeight] = [0, 0, 0];
  for (const [title, members] of [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))) {
    const most = Math.max(1, Math.floor(width / size));
    const columns = Math.min(most, Math.max(Math.ceil(Math.sqrt(members.length * 3)), Math.ceil(120 / size)));
    const [groupWidth, groupHeight] = [columns * size, Math.ceil(members.length / columns) * size + TITLE];
    if (left > 0 && left + groupWidth > width) [left, top, rowHeight] = [0, top + rowHeight + GAP, 0];
    layout.groups.push({ x: left, y: top + TITLE - 8, title, count: members.length });
    for (const [place, index] of members.entries()) {
      const square = squares[index];
      const weight = items[index]?.weight ?? 0;
      if (!square) continue;
      square.x = left + (place % columns) * size;
      square.y = top + TITLE + Math.floor(place / columns) * size;
      // The area shows the weight; the lightest stays visible.
      square.fill =
        (size - Math.max(1, size / 14)) * (heaviest === 0 ? 1 : Math.max(0.3, Math.sqrt(weight / heaviest)));
    }
    left += groupWidth + GAP;
    rowHeight = Math.max(rowHeight, groupHeight);
  }
  layout.height = top + rowHeight;
  return layout;
}
