"""The event loop of the packet simulator; its rules stand in `network.packets`."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import constants, kernel
from wattline.model.kernel_arrays import KernelArrays

EVENTS, DEPTH, READY, SEED, HOPS, DETOURED, AWAITED, ARRIVED = constants(8)
"""Places in `Yard.number`: how many events, links to look at and batches to release there are,
the state of the random sequence, and what is counted."""

LINKS, NODES, CHANNELS, MODE, WATCHED, ONE_CHANNEL, BY_HOPS = constants(7)
"""Places in `Yard.setting`. Links are numbered: between routers, then up from each node, then down
to each node. No job is watched when that one is -1. The last two say which queue a packet looks
at, and whether it counts once for each hop."""


class Yard(KernelArrays):
    """All that the loop reads and writes."""

    FIELDS = (
        "setting", "threshold", "number", "now",
        # Packets: where they go and for whom; the batch that waits for their arrival, or -1.
        "source", "target", "job", "row", "opens", "path", "hop", "following",
        # Batches: packets that one sender hands over together, and how much each waits for.
        "batch_first", "batch_waits", "batch_more", "ready",
        # Paths, as in `wattline.network.routes`, and the links that lead into each router.
        "path_start", "link_start", "link", "minimal", "link_from", "node_router",
        "in_start", "in_link",
        # Links: what the buffer of a channel holds, time of one packet, whether one is under way
        # and which, the channel whose turn it is, packets that wait for it or are on their way to
        # it, and what is counted.
        "hop_s", "room", "service", "busy", "carried", "turn", "waiting", "blocked_since",
        "crossed", "stalled",
        # Queues, one per link and channel: first and last packet, places taken.
        "head", "tail", "held",
        # The heap of events, and the stack of links to look at.
        "times", "codes", "stack", "stacked",
        "done",
    )
    setting: Any
    threshold: Any
    number: Any
    now: Any
    source: Any
    target: Any
    job: Any
    row: Any
    opens: Any
    path: Any
    hop: Any
    following: Any
    batch_first: Any
    batch_waits: Any
    batch_more: Any
    ready: Any
    path_start: Any
    link_start: Any
    link: Any
    minimal: Any
    link_from: Any
    node_router: Any
    in_start: Any
    in_link: Any
    hop_s: Any
    room: Any
    service: Any
    busy: Any
    carried: Any
    turn: Any
    waiting: Any
    blocked_since: Any
    crossed: Any
    stalled: Any
    head: Any
    tail: Any
    held: Any
    times: Any
    codes: Any
    stack: Any
    stacked: Any
    done: Any


@kernel
def run_packets(yard: Yard, events: int) -> bool:
    """Run packets to their targets, or until those of the watched job have arrived.

    After so many events it stops, to go on when it is called again: whether there is more to do.
    """
    number = yard.number
    total = yard.service.size
    for _ in range(events):
        _release(yard)
        while number[DEPTH] > 0:
            number[DEPTH] -= 1
            e = yard.stack[number[DEPTH]]
            yard.stacked[e] = 0
            if not yard.busy[e]:
                _serve(yard, e)
        if number[AWAITED] == 0 or number[EVENTS] == 0:
            return False
        yard.now[0], code = yard.times[0], yard.codes[0]
        _pop(yard)
        if code < total:
            yard.busy[code] = 0
            _look_at(yard, code)
            packet = yard.carried[code]
            if packet >= 0 and yard.opens[packet] >= 0:
                _count_down(yard, yard.opens[packet])
        else:
            packet = code - total
            e = _link_at(yard, packet, yard.hop[packet] - 1)
            _append(yard, e, yard.hop[packet], packet)
            if not yard.busy[e]:
                _look_at(yard, e)
    return True


@kernel
def _push(yard: Yard, time: float, code: int) -> None:
    """Add an event; those at the same time come in the order of their codes."""
    times, codes = yard.times, yard.codes
    at = yard.number[EVENTS]
    yard.number[EVENTS] += 1
    while at > 0:
        up = (at - 1) >> 1
        if times[up] < time or (times[up] == time and codes[up] < code):
            break
        times[at], codes[at] = times[up], codes[up]
        at = up
    times[at], codes[at] = time, code


@kernel
def _pop(yard: Yard) -> None:
    """Remove the first event; the caller has read it."""
    times, codes = yard.times, yard.codes
    yard.number[EVENTS] -= 1
    last = yard.number[EVENTS]
    time, code = times[last], codes[last]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= last:
            break
        if down + 1 < last and (times[down + 1] < times[down] or (
                times[down + 1] == times[down] and codes[down + 1] < codes[down])):
            down += 1
        if time < times[down] or (time == times[down] and code < codes[down]):
            break
        times[at], codes[at] = times[down], codes[down]
        at = down
    times[at], codes[at] = time, code


@kernel
def _random(yard: Yard) -> int:
    yard.number[SEED] = yard.number[SEED] * 48271 % 2147483647
    return int(yard.number[SEED])


@kernel
def _look_at(yard: Yard, e: int) -> None:
    """See to it that this link is asked whether it can send."""
    if not yard.stacked[e]:
        yard.stacked[e] = 1
        yard.stack[yard.number[DEPTH]] = e
        yard.number[DEPTH] += 1


@kernel
def _append(yard: Yard, e: int, channel: int, packet: int) -> None:
    """Put a packet at the end of a queue."""
    queue = e * yard.setting[CHANNELS] + channel
    if yard.tail[queue] < 0:
        yard.head[queue] = packet
    else:
        yard.following[yard.tail[queue]] = packet
    yard.tail[queue] = packet


@kernel
def _count_down(yard: Yard, batch: int) -> None:
    """One thing less that a batch waits for."""
    yard.batch_waits[batch] -= 1
    if yard.batch_waits[batch] == 0:
        yard.ready[yard.number[READY]] = batch
        yard.number[READY] += 1


@kernel
def _release(yard: Yard) -> None:
    """Hand over the packets of all batches that wait for nothing any more."""
    links = yard.setting[LINKS]
    while yard.number[READY] > 0:
        yard.number[READY] -= 1
        batch = yard.ready[yard.number[READY]]
        for packet in range(yard.batch_first[batch], yard.batch_first[batch + 1]):
            if yard.source[packet] == yard.target[packet]:
                # Between tasks of one node: it is there at once.
                if yard.opens[packet] >= 0:
                    _count_down(yard, yard.opens[packet])
            else:
                _append(yard, links + yard.source[packet], 0, packet)
                _look_at(yard, links + yard.source[packet])
        if yard.batch_more[batch]:
            _count_down(yard, batch + 1)


@kernel
def _hops(yard: Yard, packet: int) -> int:
    """Links between routers on the packet's path."""
    path = yard.path[packet]
    return int(yard.link_start[path + 1] - yard.link_start[path])


@kernel
def _link_at(yard: Yard, packet: int, hop: int) -> int:
    """The link that a packet takes as its hop of this number; -1 when it has arrived."""
    hops = _hops(yard, packet)
    if hop < hops:
        return int(yard.link[yard.link_start[yard.path[packet]] + hop])
    if hop == hops:
        return int(yard.setting[LINKS] + yard.setting[NODES] + yard.target[packet])
    return -1


@kernel
def _choose(yard: Yard, row: int) -> int:
    """The path of a packet at its source."""
    low, high = yard.path_start[row], yard.path_start[row + 1]
    shortest = 0
    while low + shortest < high and yard.minimal[low + shortest]:
        shortest += 1
    direct = low + _random(yard) % max(1, shortest)
    if yard.setting[MODE] == 0 or high - low == shortest:
        return int(direct)
    detour = low + shortest + _random(yard) % (high - low - shortest)
    if yard.setting[MODE] == 1:
        return int(detour)
    near, far = _credits(yard, direct), _credits(yard, detour)
    return int(detour if far > yard.threshold[0] * near else direct)


@kernel
def _credits(yard: Yard, path: int) -> int:
    """Room in front of the first link of a path, as the source router knows it."""
    start = yard.link_start[path]
    first = yard.link[start]
    if yard.setting[ONE_CHANNEL]:
        queue = yard.held[first * yard.setting[CHANNELS] + 1]
    else:
        queue = yard.waiting[first]
    if yard.setting[BY_HOPS]:
        queue *= yard.link_start[path + 1] - start
    return int(yard.room[first] - queue)


@kernel
def _serve(yard: Yard, e: int) -> None:
    """Send the first packet, channels in turn, that has room behind this link."""
    channels = yard.setting[CHANNELS]
    at_source = yard.setting[LINKS] <= e < yard.setting[LINKS] + yard.setting[NODES]
    any_waiting = False
    for k in range(channels):
        channel = (yard.turn[e] + k) % channels
        packet = yard.head[e * channels + channel]
        if packet < 0:
            continue
        any_waiting = True
        if at_source:
            yard.path[packet] = _choose(yard, yard.row[packet])
        after = _link_at(yard, packet, yard.hop[packet])
        if after >= 0 and (yard.held[after * channels + yard.hop[packet] + 1]
                           >= yard.room[after]):
            continue
        _leave(yard, e, channel, packet, at_source)
        _send(yard, e, packet, after)
        return
    if any_waiting and yard.blocked_since[e] < 0.0:
        yard.blocked_since[e] = yard.now[0]


@kernel
def _leave(yard: Yard, e: int, channel: int, packet: int, at_source: bool) -> None:
    """Take the first packet from a queue; room appears there."""
    queue = e * yard.setting[CHANNELS] + channel
    yard.head[queue] = yard.following[packet]
    if yard.head[queue] < 0:
        yard.tail[queue] = -1
    yard.following[packet] = -1
    yard.turn[e] = (channel + 1) % yard.setting[CHANNELS]
    if at_source:
        return
    if yard.held[queue] == yard.room[e]:
        links = yard.setting[LINKS]
        router = yard.link_from[e] if e < links else (
            yard.node_router[e - links - yard.setting[NODES]])
        # Links that lead here are asked in an order that starts anywhere, so that none starves.
        low = yard.in_start[router]
        ports = yard.in_start[router + 1] - low
        first = _random(yard)
        for step in range(ports):
            before = yard.in_link[low + (step + first) % ports]
            if not yard.busy[before]:
                _look_at(yard, before)
    yard.held[queue] -= 1
    yard.waiting[e] -= 1


@kernel
def _send(yard: Yard, e: int, packet: int, after: int) -> None:
    """Put a packet on a link; `after` is the link that it takes next, -1 for none."""
    now = yard.now[0]
    yard.busy[e] = 1
    yard.crossed[e] += 1
    if yard.blocked_since[e] >= 0.0:
        yard.stalled[e] += now - yard.blocked_since[e]
        yard.blocked_since[e] = -1.0
    _push(yard, now + yard.service[e], e)
    if after >= 0:
        yard.carried[e] = -1
        yard.hop[packet] += 1
        yard.held[after * yard.setting[CHANNELS] + yard.hop[packet]] += 1
        yard.waiting[after] += 1
        yard.number[HOPS] += after < yard.setting[LINKS]
        # The head moves on after one hop time, but a packet cannot leave before it is there.
        wait = yard.hop_s[0] + max(0.0, yard.service[e] - yard.service[after])
        _push(yard, now + wait, yard.service.size + packet)
    else:
        yard.carried[e] = packet
        job = yard.job[packet]
        yard.done[job] = max(yard.done[job], now + yard.service[e])
        yard.number[DETOURED] += not yard.minimal[yard.path[packet]]
        yard.number[AWAITED] -= job == yard.setting[WATCHED]
        yard.number[ARRIVED] += 1
