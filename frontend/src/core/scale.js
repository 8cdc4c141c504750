/* A scale of colours that is read without seeing hue: from dark to light (viridis, nine stops). */

const STOPS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141],
  [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

/** The colour at a part between 0 and 1, as three numbers. */
export function viridis(part) {
  const at = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[low].map((from, channel) =>
    Math.round(from + (at - low) * (STOPS[low + 1][channel] - from)));
}

export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000" : "#fff";
}
