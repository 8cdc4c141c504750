-- Attaches watts to every job of the managed partitions, as licences; in decide mode, and where jobs
-- share nodes, it also holds them for the controller and marks them as its own. Beside slurm.conf;
-- edits need no restart.

local mode = "guard" -- "guard": Slurm starts jobs; "decide": the controller does
local shared = false -- true: jobs share nodes, and the controller attaches what their parts draw
local managed = { batch = true }
local node_active_w = 300
local cores_per_node = 32
local mark = "wattline" -- how the comment of a job begins that is the controller's
local trusted = { [0] = true } -- user numbers that may release and change jobs: root, the controller

local LICENCE = "watts"
local waits_for_controller = mode == "decide" or shared

local function set(value)
  return value ~= nil and value ~= slurm.NO_VAL and value ~= slurm.NO_VAL64
end

local function partition_of(job, partitions)
  if job.partition ~= nil and job.partition ~= "" then
    return job.partition
  end
  for name, partition in pairs(partitions) do
    if partition.flag_default ~= 0 then
      return name
    end
  end
  return nil
end

-- Every partition that a job names must be managed, or none: it may start in any of them.
local function is_managed(names)
  local all, any = true, false
  for name in string.gmatch(names or "", "[^,]+") do
    if managed[name] then
      any = true
    else
      all = false
    end
  end
  return any, all
end

local function nodes_of(job)
  local nodes = set(job.min_nodes) and job.min_nodes or 1
  if set(job.max_nodes) and job.max_nodes > nodes then
    nodes = job.max_nodes -- it may get as many
  end
  local cores = set(job.min_cpus) and job.min_cpus or 1
  return math.max(nodes, math.ceil(cores / cores_per_node), 1)
end

-- All that its nodes draw while it runs; a job that knows better says so with -L watts:N.
local function watts_of(job)
  return math.ceil(nodes_of(job) * node_active_w)
end

local function has_watts(job)
  return string.find("," .. (job.licenses or ""), "," .. LICENCE .. ":", 1, true) ~= nil
end

local function add_watts(job)
  if not has_watts(job) then
    local mine = string.format("%s:%d", LICENCE, watts_of(job))
    job.licenses = (job.licenses ~= nil and job.licenses ~= "") and job.licenses .. "," .. mine or mine
  end
end

local function is_marked(comment)
  return comment ~= nil and string.sub(comment, 1, #mark) == mark
end

local function add_mark(job, comment)
  if not is_marked(comment) then
    job.comment = (comment ~= nil and comment ~= "") and mark .. " " .. comment or mark
  end
end

function slurm_job_submit(job, partitions, uid)
  local any, all = is_managed(partition_of(job, partitions))
  if not any then
    return slurm.SUCCESS
  end
  if not all then
    slurm.log_user("name either partitions under the power cap, or others: not both")
    return slurm.ERROR
  end
  if not shared then
    add_watts(job)
  end
  if waits_for_controller and not (set(job.priority) and job.priority == 0) then
    job.priority = 0 -- held for the controller; what its user holds stays the user's
    add_mark(job, job.comment)
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  if trusted[uid] or not is_managed(record.partition) then
    return slurm.SUCCESS
  end
  if job.licenses ~= nil and job.licenses ~= record.licenses then
    slurm.log_user("watts of a job are changed by operators")
    return slurm.ERROR
  end
  if waits_for_controller and set(job.priority) and job.priority ~= 0 then
    job.priority = 0 -- its user releases it: from now on it waits for the controller
    add_mark(job, job.comment or record.comment)
  end
  return slurm.SUCCESS
end

slurm.log_info("watts are attached to jobs, in %s mode", mode)
return slurm.SUCCESS
