-- Requests of one kind for wrk, over sessions in turn. By the environment:
-- WRK_KIND: predict, observe, sequence, learn, bulk or count; WRK_SESSIONS: a file with an id a line;
-- WRK_BODIES: a file with a body a line (bulk, sequence); WRK_DELAY: milliseconds that a connection
-- waits before a request, on average: exponentially distributed, so that connections which do not
-- know of each other do not ask all at once. The last line of the output is JSON.

local function lines_of(name)
  local lines = {}
  local path = os.getenv(name)
  if path then
    for line in io.lines(path) do lines[#lines + 1] = line end
  end
  return lines
end

local kind = os.getenv("WRK_KIND")
local sessions = lines_of("WRK_SESSIONS")
local bodies = lines_of("WRK_BODIES")
local wait = tonumber(os.getenv("WRK_DELAY") or "0")
local headers = { ["content-type"] = "application/json" }
local made = {}
local turn = 0

local function session() return "/sessions/" .. sessions[turn % #sessions + 1] end
local function post(path, body) return wrk.format("POST", path, headers, body) end

local makers = {
  count = function() return wrk.format("GET", "/sessions/count") end,
  predict = function() return wrk.format("GET", session() .. "/predictions") end,
  observe = function()
    return post(session() .. "/observe", string.format('{"strings":["w%d"]}', turn * 7919 % 30000))
  end,
  sequence = function() return post(session() .. "/observe-sequence", bodies[turn % #bodies + 1]) end,
  bulk = function() return post("/predictions", bodies[turn % #bodies + 1]) end,
}

function init(args)
  -- Texts of requests that repeat are made once: wrk is on the same cores.
  if kind == "predict" or kind == "bulk" or kind == "sequence" then
    local many = math.max(#sessions, #bodies)
    for i = 1, many do
      made[i] = makers[kind]()
      turn = turn + 1
    end
  end
end

function request()
  turn = turn + 1
  if #made > 0 then return made[turn % #made + 1] end
  return makers[kind]()
end

if wait > 0 then
  -- wrk takes whole milliseconds; what is rounded at random keeps the mean.
  function delay()
    local drawn = -wait * math.log(1 - math.random())
    return math.floor(drawn + math.random())
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "seconds": %.3f, "bytes": %d, "p50_ms": %.3f, "p90_ms": %.3f, "p99_ms": %.3f, '
      .. '"most_ms": %.3f, "bad_status": %d, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3,
    latency:percentile(90) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
